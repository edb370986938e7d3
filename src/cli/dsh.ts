#!/usr/bin/env node
import { guardStdout } from '../host/stdout-guard.js';

// The guard stands before every other module: the rest is imported when it is up.
const stdout = guardStdout();
const { main } = await import('./main.js');
void main(process.argv.slice(2), stdout);
