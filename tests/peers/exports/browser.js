// SPDX-License-Identifier: Apache-2.0
// Opens exports in headless Chromium: in speedscope, and the flame graphs as they are. Prints what was seen as JSON.
// Usage: node browser.js PACKAGES CHROMIUM FOLDER: Node's packages, the browser, the exported files; screenshots are
// put beside them. Nothing but 127.0.0.1 is asked for.
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const [packages, chromium, folder] = process.argv.slice(2);
const playwright = require(path.join(packages, 'node_modules', 'playwright-core'));
const speedscope = path.join(packages, 'node_modules', 'speedscope', 'dist', 'release');
const PATIENCE_MS = 240000; // machines may be busy with other tests
const TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml'};

function serve(request, answer) {
    const name = decodeURIComponent(new URL(request.url, 'http://x/').pathname);
    const file = name.startsWith('/data/') ? path.join(folder, path.basename(name)) : path.join(speedscope, name);
    fs.readFile(file, (error, data) => {
        answer.writeHead(error ? 404 : 200, {'content-type': TYPES[path.extname(file)] || 'application/octet-stream',
                                             'access-control-allow-origin': '*'});
        answer.end(error ? '' : data);
    });
}

async function open(browser, options) {
    const context = await browser.newContext({viewport: {width: 1280, height: 720}, ...options});
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const seen = {console: [], errors: [], requests: [], dialogs: 0};
    page.on('console', message => seen.console.push(message.text()));
    page.on('pageerror', error => seen.errors.push(error.message));
    page.on('request', request => seen.requests.push(request.url()));
    page.on('dialog', dialog => {
        seen.dialogs++;
        dialog.dismiss();
    });
    return {context, page, seen};
}

async function inSpeedscope(browser, base, name) {
    const {context, page, seen} = await open(browser, {});
    await page.goto(`${base}/index.html#profileURL=${encodeURIComponent(`${base}/data/${name}`)}&view=left-heavy`);
    // The title tells when it is done; what cannot be read is told on the console.
    await page.waitForFunction(() => document.title.includes(' - speedscope') ||
        document.body.innerText.includes('Something went wrong'), null, {timeout: PATIENCE_MS}).catch(() => {});
    seen.title = await page.title();
    seen.text = await page.evaluate(() => document.body.innerText);
    await page.screenshot({path: path.join(folder, name + '.png')});
    await context.close();
    return seen;
}

// What is drawn of each frame: its name, where, and whether it is marked.
function frames() {
    return Array.from(document.querySelectorAll('.f')).map(e => {
        const box = e.querySelector('.s').getBoundingClientRect();
        const lines = e.querySelector('title').textContent.split('\n');
        return {name: lines[0], lines, left: box.left, width: box.width, top: box.top,
                shown: getComputedStyle(e).display !== 'none', match: e.classList.contains('m'),
                text: (e.querySelector('text') || {}).textContent || '', focus: document.activeElement === e};
    });
}

function words() {
    return document.querySelector('#details').textContent;
}

async function flameGraph(browser, name) {
    const {context, page, seen} = await open(browser, {colorScheme: 'light'});
    await page.goto('file://' + path.join(folder, name));
    seen.title = await page.title();
    seen.before = await page.evaluate(frames);
    seen.scripts = await page.evaluate(() => document.querySelectorAll('script').length);
    seen.note = await page.evaluate(() => (document.querySelector('#note') || {}).textContent || '');
    seen.light = await page.evaluate(() => getComputedStyle(document.querySelector('.bg')).fill);
    await page.screenshot({path: path.join(folder, name + '.light.png')});
    await page.emulateMedia({colorScheme: 'dark'});
    seen.dark = await page.evaluate(() => getComputedStyle(document.querySelector('.bg')).fill);
    await page.screenshot({path: path.join(folder, name + '.dark.png')});
    return {context, page, seen};
}

async function useFlameGraph(browser, name) {
    const {context, page, seen} = await flameGraph(browser, name);
    await page.locator('.f', {has: page.locator('title', {hasText: /^net_poll\n/})}).first().click({position: {x: 200, y: 5}});
    seen.zoomed = await page.evaluate(frames);
    seen.zoomedWords = await page.evaluate(words);
    await page.screenshot({path: path.join(folder, name + '.zoomed.png')});
    await page.keyboard.press('Escape');
    seen.afterReset = await page.evaluate(frames);
    await page.keyboard.press('/');
    await page.keyboard.type('SUM');
    seen.searched = await page.evaluate(frames);
    seen.searchedWords = await page.evaluate(words);
    await page.screenshot({path: path.join(folder, name + '.searched.png')});
    await page.keyboard.press('Enter');
    seen.found = await page.evaluate(frames);
    await page.keyboard.press('Escape');
    seen.cleared = await page.evaluate(frames);
    // By keys only, from the first track: down to what it called, right, zoom.
    await page.locator('.f').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    seen.keys = await page.evaluate(frames);
    await page.keyboard.press('Enter');
    seen.keysZoomed = await page.evaluate(frames);
    await page.setViewportSize({width: 700, height: 500});
    await page.keyboard.press('Escape');
    // The page hears of its new size some time after it has it.
    await page.waitForFunction(`(${frames})().every(f => !f.shown || f.width <= 700)`, null, {timeout: PATIENCE_MS})
        .catch(() => {});
    seen.narrow = await page.evaluate(frames);
    await context.close();
    return seen;
}

async function searchFlameGraph(browser, name, terms) {
    const {context, page, seen} = await flameGraph(browser, name);
    seen.answers = [];
    for (const term of terms) {
        await page.locator('input').fill(term);
        seen.answers.push(await page.evaluate(() => document.querySelector('.bar span').textContent) + ' | ' +
                          await page.evaluate(words));
    }
    await page.screenshot({path: path.join(folder, name + '.searched.png')});
    delete seen.before;
    await context.close();
    return seen;
}

async function withoutScripts(browser, name) {
    const {context, page, seen} = await open(browser, {javaScriptEnabled: false});
    await page.goto('file://' + path.join(folder, name));
    seen.before = await page.evaluate(frames);
    seen.controls = await page.evaluate(() => document.querySelectorAll('foreignObject').length);
    await page.screenshot({path: path.join(folder, name + '.static.png')});
    await context.close();
    return seen;
}

async function main() {
    const server = http.createServer(serve);
    await new Promise(done => server.listen(0, '127.0.0.1', done));
    const base = `http://127.0.0.1:${server.address().port}`;
    const root = process.getuid && process.getuid() === 0;
    const browser = await playwright.chromium.launch({
        executablePath: chromium,
        args: ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', ...(root ? ['--no-sandbox'] : [])]});
    const result = {speedscope: {}, base};
    try {
        for (const name of fs.readdirSync(folder).filter(f => f.startsWith('in-')))
            result.speedscope[name] = await inSpeedscope(browser, base, name);
        result.board = await useFlameGraph(browser, 'board.svg');
        const hostile = await flameGraph(browser, 'hostile.svg');
        await hostile.context.close();
        result.hostile = hostile.seen;
        const empty = await flameGraph(browser, 'empty.svg');
        await empty.context.close();
        result.empty = empty.seen;
        result.many = await searchFlameGraph(browser, 'many.svg', ['function_', '/^function_1234$/', '/(/', 'main', 'nothing']);
        result.still = await withoutScripts(browser, 'board.svg');
    } finally {
        await browser.close();
        server.close();
    }
    process.stdout.write(JSON.stringify(result));
}

main().catch(error => {
    process.stderr.write(String(error.stack || error) + '\n');
    process.exit(1);
});
