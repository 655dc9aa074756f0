import type { AppModule } from './app-contract';
import { Chat } from './chat';
import { Panel } from './ui/panel';

/** Called once by the loader. */
export const start: AppModule['start'] = async (context) => {
  const chat = await Chat.create(context);
  chat.begin(new Panel(chat, context));
  return chat;
};
