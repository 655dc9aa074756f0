import { DeliveryExchange } from './delivery-exchange';
import { ReceiverConnection } from './receiver-connection';

describe('DeliveryExchange', () => {
  it('sends nothing on a connection that opens after the timeout', async () => {
    const exchange = new DeliveryExchange(new Date(), 10);
    expect(await exchange.outcome).toMatchObject({ kind: 'failed', error: 'timeout', statusCode: null });
    const destroyed: string[] = [];
    const connection = { destroy: () => destroyed.push('late') } as unknown as ReceiverConnection;
    const post = { path: '/', headers: [], body: Buffer.alloc(0) };
    const unexpected = () => destroyed.push('unexpected');
    exchange.send(connection, post, unexpected, unexpected);
    expect(destroyed).toEqual(['late']);
  });

  it('ignores a response after the timeout', async () => {
    const exchange = new DeliveryExchange(new Date(), 10);
    const outcome = await exchange.outcome;
    exchange.onHead({ statusCode: 200, rawHeaders: [] });
    exchange.onData(Buffer.from('late'));
    exchange.onEnd(null);
    expect(outcome).toMatchObject({ kind: 'failed', error: 'timeout', response: null });
    expect(await exchange.outcome).toBe(outcome);
  });

  it('rejects an error that no receiver can cause', async () => {
    const exchange = new DeliveryExchange(new Date(), 1000);
    exchange.endWithError(new TypeError('a bug'));
    await expect(exchange.outcome).rejects.toThrow('a bug');
  });
});
