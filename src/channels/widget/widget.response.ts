import { ApiProperty } from '@nestjs/swagger';
import { MessageResponse } from '../../messages/message.dto';

export class SessionResponse {
  @ApiProperty({
    example: 'eyJhbGciOiJIUzI1NiIsImtpZCI6ImZpcnN0In0.eyJhdWQiOiIwMTlhYjNmMCJ9.c2lnbmF0dXJl',
    description: 'For the `Authorization` header of every other request, as `Bearer …`.',
  })
  token: string;

  @ApiProperty({
    example: '2026-11-21T09:41:07.000Z',
    description: '24 hours from now. Renew the session before.',
  })
  expiresAt: Date;

  @ApiProperty({
    type: String,
    nullable: true,
    example: '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11',
    description: 'null before the first message.',
  })
  conversationId: string | null;
}

export class PostedMessageResponse {
  @ApiProperty()
  message: MessageResponse;
}

export class ReceiptResponse {
  @ApiProperty({
    example: 2,
    description: 'How many outbound messages have advanced. 0 when all had this status already.',
  })
  advanced: number;
}
