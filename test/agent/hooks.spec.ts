import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { ContainerModule } from 'inversify';
import {
  AfterToolCall,
  BeforeStep,
  BeforeToolCall,
  type HookContext,
  RequestMiddleware,
  TurnStopping,
} from '../../src/agent/index.js';
import { Deferred } from '../../src/base/index.js';
import { DEFAULT_RETRY_POLICY } from '../../src/model/index.js';
import { AgentWorld, prompt, readable } from '../support/agent-world.js';
import { chunksOf, fails, says } from '../support/fake-model.js';
import { outcome } from '../support/fake-tools.js';

type Bind = ConstructorParameters<typeof ContainerModule>[0];

const CALLS = ['a', 'b', 'c'].map((id) => ({ id, name: 'echo' }));

describe('hook points', () => {
  let world: AgentWorld;
  // Not balanced: hooks add messages that no inbox held, and leave calls without a result.
  afterEach(() => world.scope.close());

  async function withHooks(bind: Bind): Promise<void> {
    world = await AgentWorld.create({ sessionModules: [{ name: 'hooks', module: new ContainerModule(bind) }] });
  }

  function asked(index: number): readonly string[] {
    return readable(world.model.requests[index]?.messages ?? []);
  }

  function texts(): readonly string[] {
    return world.events('tool/result').map(({ data }) => JSON.stringify(data.message.content[0]?.content));
  }

  describe('BeforeStep', () => {
    it('may rewrite and add to what enters, one hook after the other', async () => {
      const seen: unknown[] = [];
      await withHooks(({ bind }) => {
        for (const name of ['one', 'two']) {
          bind(BeforeStep).toConstantValue({
            name,
            beforeStep: async (messages, { turn, step, agent }) => {
              seen.push([name, turn, step, agent.id, messages.length]);
              return { kind: 'enter', messages: [...messages, prompt(name)] };
            },
          });
        }
        bind(BeforeStep).toConstantValue({ name: 'passes', beforeStep: () => undefined });
      });
      await world.ran(['go']);
      expect(asked(0)).to.deep.equal(['user: go', 'user: one', 'user: two']);
      expect(seen).to.deep.equal([
        ['one', 1, 1, 's', 1],
        ['two', 1, 1, 's', 2],
      ]);
    });

    it('may reject: no step, no request, and the prompts behind it run', async () => {
      await withHooks(({ bind }) => {
        bind(BeforeStep).toConstantValue({
          name: 'guard',
          beforeStep: ([message]) =>
            message && readable([message])[0] === 'user: bad' ? { kind: 'reject' } : undefined,
        });
      });
      await world.ran(['bad', 'good']);
      expect(world.ends()).to.deep.equal([{ kind: 'blocked' }, { kind: 'completed' }]);
      expect(world.events('step/start')).to.have.lengthOf(1);
      expect(asked(0)).to.deep.equal(['user: good']);
    });

    it('may leave nothing: the turn completes without a step', async () => {
      await withHooks(({ bind }) => {
        bind(BeforeStep).toConstantValue({ name: 'x', beforeStep: () => ({ kind: 'enter', messages: [] }) });
      });
      await world.ran(['go']);
      expect(world.ends()).to.deep.equal([{ kind: 'completed' }]);
      expect(world.model.requests).to.deep.equal([]);
    });

    it('fails the turn with what it throws, and the prompts behind it run', async () => {
      let calls = 0;
      await withHooks(({ bind }) => {
        bind(BeforeStep).toConstantValue({
          name: 'x',
          beforeStep: () => {
            calls += 1;
            if (calls === 1) throw new Error('broken hook');
            return undefined;
          },
        });
      });
      await world.ran(['a', 'b']);
      expect(world.ends()).to.deep.equal([
        { kind: 'error', error: { code: 'UNKNOWN', message: 'broken hook' } },
        { kind: 'completed' },
      ]);
    });
  });

  describe('BeforeToolCall', () => {
    it('denies one call; its siblings run', async () => {
      await withHooks(({ bind }) => {
        bind(BeforeToolCall).toConstantValue({
          name: 'policy',
          beforeToolCall: async ({ callId }) =>
            callId === 'b' ? { kind: 'deny', reason: 'not b' } : { kind: 'allow' },
        });
        bind(BeforeToolCall).toConstantValue({
          name: 'later',
          beforeToolCall: ({ callId }) => (callId === 'c' ? { kind: 'ask' } : undefined),
        });
      });
      world.model.replies.push(() => says({ calls: CALLS }));
      await world.ran(['go']);
      expect(world.tools.started).to.deep.equal(['a']);
      expect(texts().slice(1)).to.deep.equal([
        '[{"type":"text","text":"Error: not b"}]',
        '[{"type":"text","text":"Error: tool \\"echo\\" requires approval, but no approval channel is available"}]',
      ]);
      expect(world.ends()).to.deep.equal([{ kind: 'completed' }]);
    });

    it('is asked one call at a time, in the order of the model, while bodies overlap', async () => {
      const order: string[] = [];
      await withHooks(({ bind }) => {
        bind(BeforeToolCall).toConstantValue({
          name: 'slow',
          beforeToolCall: async ({ callId }) => {
            order.push(`ask ${callId}`);
            await nextTick();
            order.push(`said ${callId}`);
            return undefined;
          },
        });
      });
      world.tools.isSafe = () => true;
      world.model.replies.push(() => says({ calls: CALLS }));
      await world.ran(['go']);
      expect(order).to.deep.equal(['a', 'b', 'c'].flatMap((id) => [`ask ${id}`, `said ${id}`]));
    });

    it('that an abort overtakes does not let the call run, whatever it says then (D8)', async () => {
      const gate = new Deferred<{ readonly kind: 'allow' }>();
      let signal: AbortSignal | undefined;
      await withHooks(({ bind }) => {
        bind(BeforeToolCall).toConstantValue({
          name: 'gate',
          beforeToolCall: (_, context: HookContext) => {
            signal = context.signal;
            return gate.promise;
          },
        });
      });
      world.model.replies.push(() => says({ calls: CALLS }));
      const agent = await world.agent();
      await agent.followup(prompt('go'));
      while (signal === undefined) await nextTick();
      agent.cancel({ kind: 'user' });
      await agent.whenIdle();
      gate.resolve({ kind: 'allow' });
      await nextTick();
      expect(signal.aborted).to.equal(true);
      expect(world.tools.started).to.deep.equal([]);
      expect(world.events('tool/result').map(({ data }) => data.error?.code)).to.deep.equal(
        CALLS.map(() => 'ABORTED_BEFORE_DISPATCH'),
      );
      expect(world.ends()).to.deep.equal([{ kind: 'aborted', reason: { kind: 'user' } }]);
    });

    it('that throws starts nothing more; what runs is drained, and the turn fails', async () => {
      await withHooks(({ bind }) => {
        bind(BeforeToolCall).toConstantValue({
          name: 'broken',
          beforeToolCall: ({ callId }) => {
            if (callId === 'b') throw new Error('broken policy');
            return undefined;
          },
        });
      });
      world.tools.isSafe = () => true;
      world.tools.body = async () => {
        await nextTick();
        return outcome('late');
      };
      world.model.replies.push(() => says({ calls: CALLS }));
      await world.ran(['go', 'again']);
      expect(world.tools.started).to.deep.equal(['a']);
      expect(texts()).to.deep.equal(['[{"type":"text","text":"late"}]']);
      expect(world.ends()).to.deep.equal([
        { kind: 'error', error: { code: 'UNKNOWN', message: 'broken policy' } },
        { kind: 'completed' },
      ]);
      // The next request pairs every call with a result all the same.
      expect(asked(1).slice(0, 7)).to.deep.equal([
        'user: go',
        'call a',
        'call b',
        'call c',
        'result a',
        'result b',
        'result c',
      ]);
    });
  });

  describe('AfterToolCall', () => {
    it('may replace the outcome, one hook after the other, and inject for the next step', async () => {
      await withHooks(({ bind }) => {
        for (const name of ['one', 'two']) {
          bind(AfterToolCall).toConstantValue({
            name,
            afterToolCall: async ({ callId }, { content, isError }) => ({
              outcome: outcome(`${JSON.stringify(content[0])} ${name}`, isError),
              inject: callId === 'a' ? [prompt(`${name} of a`)] : [],
            }),
          });
        }
      });
      world.model.replies.push(() => says({ calls: CALLS.slice(0, 2) }));
      await world.ran(['go']);
      expect(texts()[0]).to.match(/one\W+ two/);
      expect(asked(1)).to.deep.equal([
        'user: go',
        'call a',
        'call b',
        'result a',
        'result b',
        'user: one of a',
        'user: two of a',
      ]);
    });

    it('that throws fails the turn, with the result of every call that ran', async () => {
      await withHooks(({ bind }) => {
        bind(AfterToolCall).toConstantValue({
          name: 'broken',
          afterToolCall: () => {
            throw new Error('broken review');
          },
        });
      });
      world.model.replies.push(() => says({ calls: CALLS }));
      await world.ran(['go']);
      expect(world.tools.started).to.deep.equal(['a']);
      expect(world.events('tool/result')).to.have.lengthOf(1);
      expect(world.ends()[0]).to.have.nested.property('error.message', 'broken review');
    });
  });

  describe('TurnStopping', () => {
    it('may steer the turn on', async () => {
      let stops = 0;
      await withHooks(({ bind }) => {
        bind(TurnStopping).toConstantValue({
          name: 'once more',
          turnStopping: async (reason, { agent }) => {
            stops += 1;
            expect(reason).to.deep.equal({ kind: 'completed' });
            if (stops === 1) await agent.steer(prompt('once more'));
          },
        });
      });
      await world.ran(['go']);
      expect([stops, world.events('step/start').length]).to.deep.equal([2, 2]);
      expect(asked(1).at(-1)).to.equal('user: once more');
      expect(world.ends()).to.deep.equal([{ kind: 'completed' }]);
    });

    it('fails the turn with what it throws', async () => {
      await withHooks(({ bind }) => {
        bind(TurnStopping).toConstantValue({
          name: 'x',
          turnStopping: () => Promise.reject(new Error('no end')),
        });
      });
      await world.ran(['go']);
      expect(world.ends()[0]).to.have.nested.property('error.message', 'no end');
    });
  });

  describe('RequestMiddleware', () => {
    it('may give another config, which is what is logged and sent', async () => {
      await withHooks(({ bind }) => {
        bind(RequestMiddleware).toConstantValue({
          name: 'hot',
          configure: async (config) => ({ ...config, temperature: 1.5 }),
        });
      });
      await world.ran(['go']);
      expect(world.model.requests[0]?.config).to.have.property('temperature', 1.5);
      expect(world.events('request/header')[0]?.data.header.config).to.have.property('temperature', 1.5);
    });

    it('wraps the stream, the first outermost', async () => {
      const order: string[] = [];
      await withHooks(({ bind }) => {
        for (const name of ['outer', 'inner']) {
          bind(RequestMiddleware).toConstantValue({
            name,
            async *stream(_, next) {
              order.push(`${name} begins`);
              yield* next();
              order.push(`${name} ends`);
            },
          });
        }
      });
      await world.ran(['go']);
      expect(order.slice(0, 2)).to.deep.equal(['outer begins', 'inner begins']);
      expect(world.ends()).to.deep.equal([{ kind: 'completed' }]);
    });

    it('may serve a route that no adapter has', async () => {
      await withHooks(({ bind }) => {
        bind(RequestMiddleware).toConstantValue({
          name: 'own',
          async *stream() {
            yield chunksOf({ text: 'mine' });
          },
        });
      });
      const agent = await world.agent('s', { provider: 'nobody', model: 'm' });
      await agent.followup(prompt('go'));
      await agent.whenIdle();
      expect(world.ends()).to.deep.equal([{ kind: 'completed' }]);
      expect(world.model.requests).to.deep.equal([]);
    });

    it('that throws fails the turn without a retry; a failure of the model behind it is retried', async () => {
      let broken = true;
      await withHooks(({ bind }) => {
        bind(RequestMiddleware).toConstantValue({
          name: 'broken',
          stream: (_, next) => {
            if (broken) throw new Error('broken middleware');
            return next();
          },
        });
      });
      const retryPolicy = { ...DEFAULT_RETRY_POLICY, initialDelayMs: 1 };
      world.model.prepared = (config) => ({ config, retryPolicy });
      await world.ran(['go']);
      expect(world.ends()[0]).to.have.nested.property('error.message', 'broken middleware');
      expect(world.events('llm/retry')).to.deep.equal([]);
      broken = false;
      world.model.replies.push(() => fails('SERVER', 'down'));
      await world.ran(['go']);
      expect(world.events('llm/retry')).to.have.lengthOf(1);
      expect(world.ends()[1]).to.deep.equal({ kind: 'completed' });
    });
  });
});
