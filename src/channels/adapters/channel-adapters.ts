import { Channel } from '../../common/channel';
import { ChannelAdapter, HookedAdapter } from './channel-adapter';

/** The adapters, by channel. */
export class ChannelAdapters {
  private readonly byChannel: ReadonlyMap<Channel, ChannelAdapter>;

  constructor(adapters: readonly ChannelAdapter[]) {
    this.byChannel = new Map(adapters.map((adapter) => [adapter.channel, adapter]));
  }

  of(channel: Channel): ChannelAdapter {
    const adapter = this.byChannel.get(channel);
    if (!adapter) throw new Error(`${channel} has no adapter`);
    return adapter;
  }

  all(): ChannelAdapter[] {
    return [...this.byChannel.values()];
  }

  /** The adapter of a channel whose provider calls us, or null for one whose provider does not. */
  hooked(channel: Channel): HookedAdapter | null {
    const adapter = this.of(channel);
    return 'verify' in adapter ? (adapter as HookedAdapter) : null;
  }
}
