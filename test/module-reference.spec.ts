import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { IsIn, IsInt, IsOptional, IsString, Min } from 'class-validator';
import { packageInfo } from '../src/base/index.js';
import { Describe, defineModule } from '../src/kernel/index.js';
import { catalog } from '../src/profile/index.js';

describe('the module reference', () => {
  it('is what the code says', async () => {
    const script = join(packageInfo().root, 'config', 'module-reference.mjs');
    await promisify(execFile)(process.execPath, [script, '--check']);
  });

  for (const [name, module] of catalog) {
    it(`says what each key of ${name} is for`, () => {
      const silent = module.configKeys().filter(({ description }) => description.trim() === '');
      expect(silent).to.deep.equal([]);
    });
  }

  it('reads the keys of a config class, those of its base too', () => {
    class Base {
      @Describe('How many.')
      @IsInt()
      @Min(0)
      count = 3;
    }
    class Config extends Base {
      @Describe('How loud.')
      @IsIn(['low', 'high'])
      level!: string;

      @IsOptional()
      @IsString({ each: true })
      words?: string[];
    }
    expect(defineModule({ name: 'x', config: Config }).configKeys()).to.have.deep.members([
      { name: 'count', type: 'integer ≥ 0', default: 3, required: false, description: 'How many.' },
      { name: 'level', type: '"low" or "high"', required: true, description: 'How loud.' },
      { name: 'words', type: 'list of strings', required: false, description: '' },
    ]);
  });

  it('reads the keys of a JSON Schema', () => {
    const module = defineModule({
      name: 'x',
      config: {
        type: 'object',
        properties: { a: { type: 'number', default: 1, description: 'An a.' }, b: { enum: ['x', 1] }, c: {} },
        required: ['b'],
      },
    });
    expect(module.configKeys()).to.deep.equal([
      { name: 'a', type: 'number', default: 1, required: false, description: 'An a.' },
      { name: 'b', type: '"x" or 1', required: true, description: '' },
      { name: 'c', type: 'any', required: false, description: '' },
    ]);
    expect(defineModule({ name: 'x' }).configKeys()).to.deep.equal([]);
  });
});
