import { expect } from 'chai';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsPositive, IsString, ValidateNested } from 'class-validator';
import { ContainerModule } from 'inversify';
import { ConfigError, defineModule, Scope, serviceId } from '../../src/kernel/index.js';

class RetryConfig {
  @IsInt()
  @IsPositive()
  maxRetries = 5;
}
class SampleConfig {
  @IsString()
  name = 'default';

  @IsOptional()
  @ValidateNested()
  @Type(() => RetryConfig)
  retry?: RetryConfig;
}

const Value = serviceId<object>('test/Value');
const sample = defineModule({
  name: 'sample',
  config: SampleConfig,
  runtime: (config) => new ContainerModule(({ bind }) => void bind(Value).toConstantValue(config)),
});

async function configOf(raw: unknown): Promise<object> {
  const { runtime } = await sample.configure(raw);
  const scope = Scope.root('test');
  if (runtime !== undefined) await scope.load(runtime);
  return scope.get(Value);
}

async function refusal(configure: Promise<unknown>): Promise<ConfigError> {
  const thrown = await configure.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).to.be.instanceOf(ConfigError);
  return thrown as ConfigError;
}

describe('defineModule', () => {
  it('gives the module its parsed config, with defaults', async () => {
    expect(await configOf(undefined)).to.deep.equal(Object.assign(new SampleConfig(), {}));
    expect(await configOf({ name: 'x', retry: { maxRetries: 2 } })).to.deep.include({ name: 'x' });
    expect(((await configOf({ retry: { maxRetries: 2 } })) as SampleConfig).retry?.maxRetries).to.equal(2);
  });

  const refused: readonly [string, unknown, RegExp][] = [
    ['an unknown key', { nme: 'x' }, /nme: is unknown; allowed: name, retry/],
    ['a wrong type', { name: 7 }, /name: .*string/],
    ['a nested violation with its path', { retry: { maxRetries: 0 } }, /retry\.maxRetries: .*positive/],
    ['an array', [], /config must be a mapping/],
    ['a scalar', 'x', /config must be a mapping/],
  ];
  for (const [what, raw, message] of refused) {
    it(`refuses ${what}`, async () => {
      const error = await refusal(sample.configure(raw));
      expect(error.code).to.equal('INVALID_CONFIG');
      expect(error.message).to.match(message);
    });
  }

  it('takes a JSON Schema, fills its defaults, lists every violation', async () => {
    const seen: object[] = [];
    const module = defineModule<{ limit: number }>({
      name: 'plain',
      config: {
        type: 'object',
        properties: { limit: { type: 'number', default: 3 }, word: { type: 'string' } },
        additionalProperties: false,
      },
      session: (config) => {
        seen.push(config);
        return new ContainerModule(() => undefined);
      },
    });
    expect((await module.configure({})).session).to.be.instanceOf(ContainerModule);
    expect(seen).to.deep.equal([{ limit: 3 }]);
    const error = await refusal(module.configure({ limit: 'x', wrd: 1 }));
    expect(error.violations.map(({ path }) => path)).to.have.members(['limit', 'wrd']);
    expect(error.message).to.contain('wrd: is unknown; allowed: limit, word');
  });

  it('refuses any config for a module that takes none', async () => {
    const bare = defineModule({ name: 'bare' });
    expect(await bare.configure(undefined)).to.deep.equal({ runtime: undefined, session: undefined });
    expect((await refusal(bare.configure({ a: 1 }))).message).to.contain('a');
  });
});
