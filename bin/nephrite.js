#!/usr/bin/env node
// Command line entry, kept apart from the bundle so that its path and mode never change.
// The code is lib/cli/main.ts, bundled into dist/cli.js by `npm run build:dist`.
import '../dist/cli.js';
