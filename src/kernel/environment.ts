import { serviceId } from './tokens.js';

/** The environment that the runtime was started with: where credentials and endpoints are looked up, at each use. */
export type Environment = Readonly<Record<string, string | undefined>>;
/** Runtime scope; provided by the host. Default of whoever runs without one: the process's own. */
export const Environment = serviceId<Environment>('Environment');
