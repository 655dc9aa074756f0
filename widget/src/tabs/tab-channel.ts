/** Sends messages to the visitor's other tabs in this browser, if it supports BroadcastChannel. */
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
    // The browser lacks BroadcastChannel, or refuses it to this page.
    return null;
  }
}
