export { catalog } from './catalog.js';
export { type ComposedRow, compose } from './compose.js';
export { dumpProfile } from './dump.js';
export { resolveHome } from './home.js';
export { interpolate, type Surroundings } from './interpolate.js';
export { loadProfile, type Profile, type Row, shippedProfiles } from './profile.js';
