// SPDX-License-Identifier: Apache-2.0
// A pprof file as Datadog's decoder has it, as JSON. Usage: node pprof_format.js PACKAGES FILE
'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const {Profile} = require(path.join(process.argv[2], 'node_modules', 'pprof-format'));
const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(process.argv[3])));
process.stdout.write(JSON.stringify(profile, (key, value) => typeof value === 'bigint' ? value.toString() : value));
