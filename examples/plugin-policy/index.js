import { BeforeToolCall, definePlugin } from 'dsh-inversify/plugin';
import { ContainerModule } from 'inversify';

/** The arguments are the model's own text; when they are no JSON, the call fails without us. */
function commandOf(call) {
  try {
    return String(JSON.parse(call.arguments).command);
  } catch {
    return undefined;
  }
}

/**
 * Refuses shell commands that match a pattern. It keeps a model on its way; it is no sandbox: a command can be written
 * in more ways than a pattern knows.
 */
export default definePlugin({
  name: 'command-policy',
  config: {
    type: 'object',
    properties: {
      deny: { type: 'array', items: { type: 'string' }, minItems: 1 },
      reason: { type: 'string', default: 'this command is not allowed here' },
    },
    required: ['deny'],
    additionalProperties: false,
  },
  runtime: ({ deny, reason }) =>
    new ContainerModule(({ bind }) => {
      const patterns = deny.map((pattern) => new RegExp(pattern));
      bind(BeforeToolCall).toConstantValue({
        name: 'command-policy',
        beforeToolCall(call) {
          const command = call.name === 'bash' ? commandOf(call) : undefined;
          const isDenied = command !== undefined && patterns.some((pattern) => pattern.test(command));
          // `undefined` passes the call on; the reason is what the model reads.
          return isDenied ? { kind: 'deny', reason } : undefined;
        },
      });
    }),
});
