import { Module } from '@nestjs/common';
import { AttachmentLinks } from './attachment-links';
import { AttachmentsController } from './attachments.controller';
import { LinkedAttachmentsController } from './linked-attachments.controller';
import { UploadsController } from './uploads.controller';

@Module({
  controllers: [UploadsController, AttachmentsController, LinkedAttachmentsController],
  providers: [AttachmentLinks],
})
export class AttachmentsModule {}
