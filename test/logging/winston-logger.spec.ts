import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import type { LogFormat, LogLevel } from '../../src/base/index.js';
import { WinstonLogger } from '../../src/logging/index.js';

async function logged(level: LogLevel, format: LogFormat, use: (logger: WinstonLogger) => void): Promise<string[]> {
  const stream = new PassThrough();
  const logger = WinstonLogger.create({ level, format, stream });
  use(logger);
  await logger.flush();
  stream.end();
  return (await text(stream)).split('\n').filter((line) => line !== '');
}

describe('WinstonLogger', () => {
  it('writes what the level admits, in order, one line each', async () => {
    const lines = await logged('info', 'text', (logger) => {
      logger.error('first');
      logger.debug('hidden');
      logger.child('store').info('second\nline', { file: 'x.jsonl', count: 2 });
    });
    expect(lines).to.have.length(2);
    expect(lines[0]).to.match(/^\d{4}-\d\d-\d\dT\S+Z error first$/);
    expect(lines[1]).to.match(/ info \[store\] second \| line file=x\.jsonl count=2$/);
  });

  it('writes JSON lines with errors and their causes as text', async () => {
    const [line = ''] = await logged('warn', 'json', (logger) => {
      logger.child('rpc').warn('lost', { error: new Error('outer', { cause: new Error('inner') }) });
    });
    expect(JSON.parse(line)).to.deep.include({
      level: 'warn',
      component: 'rpc',
      message: 'lost',
      error: 'outer: inner',
    });
  });

  it('knows which levels are on without writing', () => {
    const logger = WinstonLogger.create({ level: 'warn', format: 'text', stream: new PassThrough() });
    expect(['error', 'warn', 'info', 'debug'].filter((level) => logger.isEnabled(level as LogLevel))).to.deep.equal([
      'error',
      'warn',
    ]);
  });
});
