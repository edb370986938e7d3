import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { agentLoopModule } from '../../src/agent/agent-loop.module.js';
import { Deferred } from '../../src/base/index.js';
import { ConfigError } from '../../src/kernel/index.js';
import type { ToolCallRequest, ToolOutcome } from '../../src/tool/index.js';
import { AgentWorld, prompt } from '../support/agent-world.js';
import { says } from '../support/fake-model.js';
import { outcome, untilAborted } from '../support/fake-tools.js';
import { rejectionOf } from '../support/rejection-of.js';

describe('the tool calls of a step', () => {
  let world: AgentWorld;
  const bodies = new Map<string, Deferred<ToolOutcome>>();
  afterEach(async () => {
    bodies.clear();
    await world.close();
  });

  /** A turn whose model calls these tools; those named `safe…` may overlap, and every body waits to be told. */
  async function turn(names: readonly string[], config: object = {}): Promise<void> {
    world = await AgentWorld.create({ loopConfig: config });
    world.tools.isSafe = ({ name }) => name.startsWith('safe');
    world.tools.body = ({ callId }) => {
      const body = new Deferred<ToolOutcome>();
      bodies.set(callId, body);
      return body.promise;
    };
    world.model.replies.push(() => says({ calls: names.map((name, at) => ({ id: `${at}`, name })) }));
    await (await world.agent()).followup(prompt('go'));
  }

  async function started(...ids: readonly string[]): Promise<void> {
    while (world.tools.started.length < ids.length) await nextTick();
    await nextTick();
    expect(world.tools.started).to.deep.equal(ids);
  }

  async function settle(...ids: readonly string[]): Promise<void> {
    for (const id of ids) bodies.get(id)?.resolve(outcome(`done ${id}`));
    await nextTick();
  }

  function results(): readonly string[] {
    return world.events('tool/result').map(({ data }) => data.message.source.callId);
  }

  it('start before any is done when they are safe, and their results are logged in the order of the model', async () => {
    await turn(['safe', 'safe', 'safe']);
    await started('0', '1', '2');
    await settle('2', '1');
    expect(results()).to.deep.equal([]);
    await settle('0');
    await world.registry.get('s')?.whenIdle();
    expect(results()).to.deep.equal(['0', '1', '2']);
    expect(world.events('tool/result').map(({ sourceEventSeqs }) => sourceEventSeqs)).to.deep.equal(
      world.events('tool/call').map(({ seq }) => [seq]),
    );
  });

  it('fill up a pool of ten', async () => {
    await turn(Array(12).fill('safe'));
    const first = Array.from({ length: 10 }, (_, at) => `${at}`);
    await started(...first);
    await settle('7');
    await started(...first, '10');
    await settle('0');
    await started(...first, '10', '11');
    await settle(...bodies.keys());
    await world.registry.get('s')?.whenIdle();
    expect(results()).to.have.lengthOf(12);
  });

  it('run one after the other in a pool of one', async () => {
    await turn(['safe', 'safe'], { maxParallelToolCalls: 1 });
    await started('0');
    await settle('0');
    await started('0', '1');
    await settle('1');
  });

  it('do not overlap with one that is not safe, on either side of it', async () => {
    await turn(['safe', 'safe', 'alone', 'safe']);
    await started('0', '1');
    await settle('1');
    await started('0', '1');
    await settle('0');
    await started('0', '1', '2');
    expect(results()).to.deep.equal(['0', '1']);
    await settle('2');
    await started('0', '1', '2', '3');
    expect(results()).to.deep.equal(['0', '1', '2']);
    await settle('3');
  });

  it('are asked anew whether they may overlap, just before they start', async () => {
    await turn(['safe', 'safe', 'safe'], { maxParallelToolCalls: 2 });
    await started('0', '1');
    world.tools.isSafe = () => false;
    await settle('0');
    await started('0', '1');
    await settle('1');
    await started('0', '1', '2');
    await settle('2');
  });

  it('are drained by a cancel; those that had not started get their results unrun', async () => {
    await turn(['safe', 'safe', 'alone', 'safe']);
    await started('0', '1');
    world.tools.body = (_: ToolCallRequest, signal: AbortSignal) => untilAborted(signal);
    const agent = await world.agent();
    agent.cancel({ kind: 'user' });
    await settle('0', '1');
    await agent.whenIdle();
    expect(world.tools.started).to.deep.equal(['0', '1']);
    expect(results()).to.deep.equal(['0', '1', '2', '3']);
    expect(world.events('tool/result').map(({ data }) => data.error?.code)).to.deep.equal([
      undefined,
      undefined,
      'ABORTED_BEFORE_DISPATCH',
      'ABORTED_BEFORE_DISPATCH',
    ]);
    expect(world.ends()).to.deep.equal([{ kind: 'aborted', reason: { kind: 'user' } }]);
  });

  it('end the turn when one concludes it, unless it failed', async () => {
    for (const [isError, requests] of [
      [false, 1],
      [true, 2],
    ] as const) {
      await world?.close();
      world = await AgentWorld.create();
      world.tools.body = () => ({ ...outcome('bye', isError), concludesTurn: true });
      world.model.replies.push(() => says({ calls: [{ id: 'c', name: 'leave' }] }));
      await world.ran(['go']);
      expect(world.model.requests).to.have.lengthOf(requests);
      expect(world.ends()).to.deep.equal([{ kind: 'completed' }]);
    }
  });

  it('go on after one that concludes the turn when a message is waiting for the next step', async () => {
    world = await AgentWorld.create();
    const agent = await world.agent();
    world.tools.body = async () => {
      await agent.steer(prompt('wait'));
      return { ...outcome('bye'), concludesTurn: true };
    };
    world.model.replies.push(() => says({ calls: [{ id: 'c', name: 'leave' }] }));
    await world.ran(['go']);
    expect(world.model.requests).to.have.lengthOf(2);
    expect(world.ends()).to.deep.equal([{ kind: 'completed' }]);
  });

  for (const maxParallelToolCalls of [0, 1.5, -1, '2']) {
    it(`need a pool that is a count: ${JSON.stringify(maxParallelToolCalls)}`, async () => {
      world = await AgentWorld.create();
      expect(await rejectionOf(agentLoopModule.configure({ maxParallelToolCalls }))).to.be.instanceOf(ConfigError);
    });
  }
});
