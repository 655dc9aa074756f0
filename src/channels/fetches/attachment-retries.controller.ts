import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type Actor, type Principal } from '../../access/principal';
import { AttachmentResponse } from '../../attachments/attachment.dto';
import { CurrentActor, CurrentPrincipal, RequireScope } from '../../http/access.decorators';
import { ApiAnswer, ApiErrors, ApiId } from '../../http/api.decorators';
import { NoQuery } from '../../http/request.pipe';
import { AttachmentRetriesService } from './attachment-retries.service';

@ApiTags('Attachments')
@Controller('attachments/:id/retry')
export class AttachmentRetriesController {
  constructor(private readonly retries: AttachmentRetriesService) {}

  @Post()
  @HttpCode(200)
  @RequireScope('messages:write')
  @NoQuery()
  @ApiId('attachment', '019ab3f7-5d6e-7f80-9a1b-2c3d4e5f6a7b')
  @ApiAnswer("Fetch a customer's file once more that is FAILED", AttachmentResponse, {
    operationId: 'retryAttachment',
  })
  @ApiErrors('INVALID_QUERY', 'TRIAL_EXPIRED', 'NOT_FOUND', 'CONFLICT')
  retry(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
  ): Promise<AttachmentResponse> {
    return this.retries.retry(tenant.id, id, actor);
  }
}
