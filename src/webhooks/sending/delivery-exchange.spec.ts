import { AddressPolicy } from './address-policy';
import { DeliveryExchange } from './delivery-exchange';
import { HostResolver } from './host-resolver';
import { VettedConnector } from './vetted-connector';

class Controller {
  reasons: Error[] = [];
  aborted = false;
  paused = false;
  reason = null;

  pause(): void {}
  resume(): void {}
  abort(reason: Error): void {
    this.aborted = true;
    this.reasons.push(reason);
  }
}

describe('DeliveryExchange', () => {
  const connector = new VettedConnector({ policy: new AddressPolicy([]), resolver: new HostResolver() });

  it('sends nothing on a connection that opens after the timeout', async () => {
    const exchange = new DeliveryExchange(new Date(), 10, connector);
    expect(await exchange.outcome).toMatchObject({ kind: 'failed', error: 'timeout', statusCode: null });
    const controller = new Controller();
    exchange.onRequestStart(controller);
    expect(controller.aborted).toBe(true);
  });

  it('ignores a response after the timeout', async () => {
    const exchange = new DeliveryExchange(new Date(), 10, connector);
    const controller = new Controller();
    exchange.onRequestStart(controller);
    const outcome = await exchange.outcome;
    expect(controller.aborted).toBe(true);
    exchange.onResponseStart(controller, 200, {});
    exchange.onResponseData(controller, Buffer.from('late'));
    exchange.onResponseEnd();
    expect(outcome).toMatchObject({ kind: 'failed', error: 'timeout', response: null });
    expect(await exchange.outcome).toBe(outcome);
  });

  it('rejects an error that no receiver can cause', async () => {
    const exchange = new DeliveryExchange(new Date(), 1000, connector);
    exchange.endWithError(new TypeError('a bug'));
    await expect(exchange.outcome).rejects.toThrow('a bug');
  });
});
