import { TableDeclaration } from '../../database/tables/table-declaration';
import { OutboundMessagesRepository } from './outbound-messages.repository';

/** Declares the queue of outbound messages. */
export function outboundMessageTables(messages: OutboundMessagesRepository): TableDeclaration[] {
  return [
    {
      name: 'outbound_messages',
      key: { tenant_id: 'uuid', conversation_id: 'uuid', message_id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['messages', 'channel_connections'], after: ['event_queue', 'parked_events'] },
      erasure: { cancel: (tx, erased) => messages.cancel(tx, erased) },
      export: { none: 'It says no more than the status of its message.' },
      retention: { none: 'A row goes when its message is sent or has failed.' },
    },
  ];
}
