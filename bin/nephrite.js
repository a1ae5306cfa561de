#!/usr/bin/env node
// Command line entry. The code is lib/cli/main.ts, bundled into dist/cli.js by `npm run build:dist`.
import '../dist/cli.js';
