import { createHash } from 'node:crypto';
import { CodedError } from '../../base/index.js';

const MAX_PROJECT_CHARS = 251;
const MAX_NAME_CHARS = 200;
const KEPT_HEAD_CHARS = 160;
const HASH_DIGITS = 32;

/**
 * Directory of a workspace's sessions (core §4.1): readable, not injective. What it is for is in each header's `cwd`.
 */
export function projectDirectoryName(cwd: string | undefined): string {
  if (cwd === undefined) return '_no-cwd';
  const flat = escapeUnits(cwd.replace(/[/\\:]+/g, '-'), /[^A-Za-z0-9._-]/g).replace(/^-+/, '');
  return `--${(flat === '' ? 'root' : flat).slice(0, MAX_PROJECT_CHARS)}--`;
}

/**
 * Directory of one session (core §4.1, decision 13): injective for every string, lone surrogates included. A long
 * name keeps its head and ends in a hash of the whole; no short name contains its `~~`.
 *
 * @throws CodedError `INVALID_SESSION_ID` for the empty id
 */
export function sessionDirectoryName(id: string): string {
  if (id === '') throw new CodedError('INVALID_SESSION_ID', 'session id must not be empty');
  const name = id === '.' || id === '..' ? id.replaceAll('.', '~002E') : escapeUnits(id, /[^A-Za-z0-9._-]/g);
  if (name.length <= MAX_NAME_CHARS) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_DIGITS);
  return `${name.slice(0, KEPT_HEAD_CHARS)}~~${hash}`;
}

/** Each UTF-16 unit that `units` (without the `u` flag) matches becomes `~` and four upper-case hex digits. */
function escapeUnits(text: string, units: RegExp): string {
  return text.replace(units, (unit) => `~${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`);
}
