import type { AppModule } from './app-contract';
import { Chat } from './chat';
import { Panel } from './ui/panel';

/** Starts the app. The loader calls it once. */
export const start: AppModule['start'] = async (context) => {
  const chat = await Chat.create(context);
  chat.attachDisplay(new Panel(chat, context));
  return chat;
};
