import type { Caller, LoginSession } from 'conversation-messaging-service/logins';
import type { LoginSessionResponse } from '../api';

export function toLoginSession(session: LoginSession, { sessionId }: Caller): LoginSessionResponse {
  return { ...session, isCurrent: session.id === sessionId };
}
