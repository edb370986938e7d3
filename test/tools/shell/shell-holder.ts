import 'reflect-metadata';
import { ShellScope } from '../../support/shell-scope.js';

/** A runtime with one shell, which runs a command; at the first input it exits without closing anything. */
const [sessionId, command] = process.argv.slice(2) as [string, string];
const shell = await ShellScope.open({}, sessionId);
process.stdin.once('data', () => process.exit(3));
await shell.run(command);
