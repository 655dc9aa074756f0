/**
 * Messages between this browser's tabs with the same visitor. Where the browser has no such channel, each is
 * alone.
 */
export class TabChannel<TabMessage> {
  private readonly channel: BroadcastChannel | null;

  constructor(name: string, onMessage: (message: TabMessage) => void) {
    this.channel = openChannel(name);
    if (this.channel) this.channel.onmessage = ({ data }) => onMessage(data as TabMessage);
  }

  get isShared(): boolean {
    return this.channel !== null;
  }

  post(message: TabMessage): void {
    this.channel?.postMessage(message);
  }

  close(): void {
    this.channel?.close();
  }
}

function openChannel(name: string): BroadcastChannel | null {
  try {
    return new BroadcastChannel(name);
  } catch {
    // Missing, or refused to this page.
    return null;
  }
}
