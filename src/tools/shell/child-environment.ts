import { isCredentialName } from '../../base/index.js';

/** Stays, so that whoever started the runtime can find what it left behind. */
const MARKER = 'DSH_RUNTIME_MARKER';

/**
 * The environment of what the model runs (runtime §3.1): the runtime's own without names that look like credentials
 * and without `DSH_*`, with terminals and pagers switched off, and with what names the session.
 */
export function childEnvironment(parent: NodeJS.ProcessEnv, sessionId: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(parent).filter(
    ([name]) => name === MARKER || !(name.startsWith('DSH_') || isCredentialName(name)),
  );
  return {
    ...Object.fromEntries(inherited),
    NO_COLOR: '1',
    TERM: 'dumb',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    BASH_SILENCE_DEPRECATION_WARNING: '1',
    DSH_SHELL: '1',
    ...(parent.DSH_HOME !== undefined && { DSH_HOME: parent.DSH_HOME }),
    ...(!sessionId.includes('\0') && { DSH_SESSION_ID: sessionId }),
  };
}
