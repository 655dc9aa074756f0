import { IsObject } from 'class-validator';
import { IsOpaque } from 'conversation-messaging-service/http';

export class RotateChannel {
  /** New credentials of a connected account, with the fields that its channel requires. */
  @IsOpaque()
  @IsObject({ message: 'must be an object' })
  credentials: object;
}
