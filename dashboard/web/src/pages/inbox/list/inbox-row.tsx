import { useRouter } from '@tanstack/react-router';
import { type MouseEvent, type ReactNode } from 'react';
import type { Channel, ContactSummary } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { ChannelLogo } from '../../../common/channel-logo';
import { contactName } from '../../../common/contact-name';
import classes from '../inbox.module.css';
import type { toSearch } from '../inbox-filter';

/** Shows a link to a conversation. `beside` is placed beside the contact's name, `children` below it. */
export function InboxRow({
  conversationId,
  channel,
  contact,
  search,
  beside,
  isOpen = false,
  attributes,
  children,
}: {
  conversationId: string;
  channel: Channel;
  contact: Pick<ContactSummary, 'id' | 'name'>;
  /** Filter of the list, and the id of a message to show, if any. */
  search: ReturnType<typeof toSearch> & { message?: string };
  beside: ReactNode;
  isOpen?: boolean;
  /** Attributes of the link, by which handlers of key presses find it. */
  attributes: Record<`data-${string}`, string | true | undefined>;
  children: ReactNode;
}) {
  const { slug } = useWorkspace();
  const router = useRouter();
  const to = { to: '/w/$slug/inbox/$conversationId', params: { slug, conversationId }, search } as const;
  const open = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void router.navigate(to);
  };
  return (
    // The router's own links would compute their addresses anew at each navigation, in every row of the list.
    <a
      href={router.buildLocation(to).href}
      onClick={open}
      className={classes.row}
      aria-current={isOpen ? 'page' : undefined}
      {...attributes}
    >
      <ChannelLogo channel={channel} size={28} />
      <span className={classes.rowText}>
        <span className={classes.rowLine}>
          <bdi className={classes.name}>{contactName(channel, contact)}</bdi>
          {beside}
        </span>
        {children}
      </span>
    </a>
  );
}
