import { CodedError } from '../../base/index.js';
import { interpolate, type Profile, resolveHome } from '../../profile/index.js';

const MODULE = 'session-persistence-jsonl';

/**
 * The directory of a profile's sessions.
 *
 * @throws CodedError `NO_SESSION_ROOT` the profile keeps no session files
 */
export function sessionRoot(profile: Profile): string {
  const { root } = sessionConfig(profile);
  if (typeof root === 'string' && root !== '') return root;
  const problem = `profile ${JSON.stringify(profile.name)} keeps no session logs in files: name their directory with --root`;
  throw new CodedError('NO_SESSION_ROOT', problem);
}

/** What the profile compresses closed sessions with; undefined where it does not say. */
export function configuredCompression(profile: Profile): string | undefined {
  const { compression } = sessionConfig(profile);
  return typeof compression === 'string' ? compression : undefined;
}

function sessionConfig({ rows }: Profile): Readonly<Record<string, unknown>> {
  const row = rows.find(({ module, disabled }) => module === MODULE && disabled !== true);
  const surroundings = { env: process.env, home: resolveHome(process.env) };
  return (interpolate(row?.config ?? {}, surroundings) ?? {}) as Readonly<Record<string, unknown>>;
}
