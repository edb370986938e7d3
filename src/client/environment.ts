import { isCredentialName, RUNTIME_MARKER } from '../base/index.js';

/**
 * This process's environment without the variables whose names look like credentials (`*KEY*`, `*TOKEN*`, `*SECRET*`,
 * `*PASSWORD*` and the like, in any case; the shell of the model is kept from the same names). Meant for the `env`
 * option, with what the runtime needs added by name:
 *
 * ```js
 * new DeepSeekHarness({ env: { ...scrubbedParentEnv(), DEEPSEEK_API_KEY: key } });
 * ```
 */
export function scrubbedParentEnv(): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && name !== RUNTIME_MARKER && !isCredentialName(name)) kept[name] = value;
  }
  return kept;
}
