import type { LoginSession, SessionHolder } from 'conversation-messaging-service/logins';
import type { LoginSessionResponse } from '../api';

export function toLoginSession(session: LoginSession, { sessionId }: SessionHolder): LoginSessionResponse {
  return { ...session, isCurrent: session.id === sessionId };
}
