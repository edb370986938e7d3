import type { Profile } from './profile.js';

/**
 * The composed profile as one YAML document that can be loaded back: expressions stand as they are, each run of rows
 * of one origin follows a comment `# == <origin>` (runtime §1.11).
 */
export async function dumpProfile({ name, rows }: Profile): Promise<string> {
  const { default: yaml } = await import('yaml');
  const items = rows.map((row) => yaml.stringify([row], { lineWidth: 0 })).join('');
  return `# == ${name}\n${items}`;
}
