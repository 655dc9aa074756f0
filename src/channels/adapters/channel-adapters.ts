import { Channel, CHANNELS, describeChannel } from '../../common/channel-descriptors';
import { ChannelAdapter, HookedAdapter } from './channel-adapter';

export class ChannelAdapters {
  private readonly byChannel: ReadonlyMap<Channel, ChannelAdapter>;

  constructor(adapters: readonly ChannelAdapter[]) {
    this.byChannel = new Map(adapters.map((adapter) => [adapter.channel, adapter]));
    for (const channel of CHANNELS) {
      if (Boolean(this.hooked(channel)) !== Boolean(describeChannel(channel).hook))
        throw new Error(`The hook of ${channel} needs a HookedAdapter and a descriptor of the hook.`);
    }
  }

  adapterOf(channel: Channel): ChannelAdapter {
    const adapter = this.byChannel.get(channel);
    if (!adapter) throw new Error(`${channel} has no adapter`);
    return adapter;
  }

  all(): ChannelAdapter[] {
    return [...this.byChannel.values()];
  }

  /** Null if the channel's provider does not call us. */
  hooked(channel: Channel): HookedAdapter | null {
    const adapter = this.adapterOf(channel);
    return 'verify' in adapter ? (adapter as HookedAdapter) : null;
  }
}
