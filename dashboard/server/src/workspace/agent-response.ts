import type { Agent } from 'conversation-messaging-service';
import type { AgentResponse } from '../api';

export function toAgent({
  id,
  name,
  displayName,
  email,
  role,
  isBot,
  active,
  erasedAt,
  createdAt,
}: Agent): AgentResponse {
  return { id, name, displayName, email, role, isBot, active, isErased: erasedAt !== null, createdAt };
}
