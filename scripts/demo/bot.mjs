import { messageOf, sleep } from '../processes.mjs';
import { note } from './print.mjs';

/** @import { ConversationDetail, EventData } from 'conversation-messaging-service' */

/** Milliseconds that the bot waits before it answers, like a person who types. */
const DELAY_MS = 800;
/** @type {[pattern: RegExp, answer: string][]} */
const ANSWERS = [
  [/ship|deliver|send/i, 'We ship everywhere in Europe. It takes two to three days.'],
  [/price|cost|€|discount/i, 'A bag is € 11 to € 13. From three bags on, shipping is free.'],
  [/espresso|strong|dark/i, 'Then take Night: dark chocolate and plum, and it loves milk.'],
  [/hello|hi\b|hey|hallo|good (morning|evening)/i, 'Hello! I am Robo. What would you like to know?'],
  [/thank|danke|merci/i, 'You are welcome! ☕'],
];
const OTHERWISE = /** @type {const} */ ([
  'Good question! Many of our customers begin with Tide: it is sweet and mild.',
  'I am only the bot of a demo. In your shop, your own code would answer here.',
  'Noted! Is there anything else?',
]);

/**
 * Answers what visitors of the widget write, as a workspace's own program does: it hears of a message by a
 * webhook, and answers through the REST API.
 */
export class Bot {
  /**
   * @param {object} options
   * @param {import('./api.mjs').Api} options.api
   * @param {string} options.agentId
   */
  constructor({ api, agentId }) {
    this.api = api;
    this.agentId = agentId;
  }

  /** @param {import('./receiver.mjs').Receiver} receiver */
  listenTo(receiver) {
    receiver.on('delivery', ({ verified, body: { event, data } }) => {
      if (!verified || event !== 'message.created' || data.message.senderType !== 'CUSTOMER') return;
      this.#answer(data).catch((error) => note(`The bot could not answer: ${messageOf(error)}`));
    });
  }

  /** @param {EventData<'message.created'>} data */
  async #answer({ conversationId, message }) {
    await sleep(DELAY_MS);
    /** @type {ConversationDetail} */
    const { sourceChannel, assignedAgentId } = await this.api.send('GET', `/conversations/${conversationId}`);
    // It is silent once a person has taken the conversation.
    if (sourceChannel !== 'WIDGET' || assignedAgentId !== null) return;
    await this.api.send('POST', `/conversations/${conversationId}/messages`, {
      // A webhook may come twice: the second one changes nothing.
      headers: { 'Idempotency-Key': `answer-${message.id}` },
      body: { body: answerTo(message), senderAgentId: this.agentId },
      expect: 201,
    });
  }
}

/**
 * Returns the same answer to a message each time, because a repeated request must not say anything else.
 *
 * @param {EventData<'message.created'>['message']} message
 */
function answerTo({ id, body }) {
  const known = ANSWERS.find(([pattern]) => pattern.test(body));
  return known ? known[1] : OTHERWISE[Number.parseInt(id.slice(-1), 16) % OTHERWISE.length];
}
