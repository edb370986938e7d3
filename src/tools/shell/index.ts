export { type CommandEnd, PersistentShell, ShellError, type ShellExit, type ShellResult } from './persistent-shell.js';
