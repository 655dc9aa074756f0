import { Channel, CHANNELS, describeChannel } from '../../common/channel-descriptors';
import { ChannelAdapter, HookedAdapter } from './channel-adapter';

/**
 * Finds the adapter of a channel. The constructor throws if a channel has no adapter, or if only its adapter
 * or only its descriptor says that the provider calls a hook.
 */
export class ChannelAdapters {
  private readonly byChannel: ReadonlyMap<Channel, ChannelAdapter>;

  constructor(adapters: readonly ChannelAdapter[]) {
    this.byChannel = new Map(adapters.map((adapter) => [adapter.channel, adapter]));
    for (const channel of CHANNELS) {
      if ('verify' in this.getAdapter(channel) !== Boolean(describeChannel(channel).hook))
        throw new Error(`The hook of ${channel} needs a HookedAdapter and a descriptor of the hook.`);
    }
  }

  getAdapter(channel: Channel): ChannelAdapter {
    const adapter = this.byChannel.get(channel);
    if (!adapter) throw new Error(`${channel} has no adapter`);
    return adapter;
  }

  getHookedAdapter(channel: Channel): HookedAdapter {
    const adapter = this.getAdapter(channel);
    if (!('verify' in adapter)) throw new Error(`${channel} has no hooks`);
    return adapter as HookedAdapter;
  }
}
