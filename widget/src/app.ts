import type { AppModule } from './app-contract';
import { Chat } from './chat';
import { Panel } from './ui/panel';

/** Creates the chat and draws it in the page. The loader calls it once. */
export const start: AppModule['start'] = async (context) => {
  const chat = await Chat.create(context);
  chat.attachDisplay(new Panel(chat, context));
  return chat;
};
