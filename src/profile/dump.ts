import { stringify } from 'yaml';
import type { Profile } from './profile.js';

/**
 * The composed profile as one YAML document that can be loaded back: expressions stand as they are, each run of rows
 * of one origin follows a comment `# == <origin>` (runtime §1.11).
 */
export function dumpProfile({ name, rows }: Profile): string {
  const items = rows.map((row) => stringify([row], { lineWidth: 0 })).join('');
  return `# == ${name}\n${items}`;
}
