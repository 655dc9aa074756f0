import { Body, Controller, Get, Param, Patch, Post, Query, Res, UseGuards } from '@nestjs/common';
import {
  type Actor,
  type ContactConversation,
  ContactConversationsService,
  type ContactDetail,
  type ContactResponse,
  ContactsService,
  CreateContact,
  ListContactsQuery,
  type Page,
  PageQuery,
  UpdateContact,
} from 'conversation-messaging-service';
import { HasOwnBudget } from 'conversation-messaging-service/http';
import type { Response } from 'express';
import { CurrentActor } from '../http/access.decorators';
import { WritableGuard } from '../inbox/writable.guard';

@Controller('api/workspaces/:workspaceId/contacts')
@UseGuards(WritableGuard)
export class ContactsController {
  constructor(
    private readonly contacts: ContactsService,
    private readonly conversations: ContactConversationsService,
  ) {}

  @Get()
  @HasOwnBudget(({ query }) => Boolean(query['q']))
  list(
    @Param('workspaceId') workspaceId: string,
    @Query() query: ListContactsQuery,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Page<ContactResponse>> {
    return this.contacts.list(workspaceId, query, actor, response);
  }

  @Post()
  create(
    @Param('workspaceId') workspaceId: string,
    @Body() body: CreateContact,
    @CurrentActor() actor: Actor,
  ): Promise<ContactResponse> {
    return this.contacts.create(workspaceId, body, actor);
  }

  @Get(':id')
  get(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<ContactDetail> {
    return this.contacts.getDetail(workspaceId, id, actor);
  }

  @Patch(':id')
  update(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Body() body: UpdateContact,
    @CurrentActor() actor: Actor,
  ): Promise<ContactResponse> {
    return this.contacts.update(workspaceId, id, body, actor);
  }

  @Get(':id/conversations')
  listConversations(
    @Param('workspaceId') workspaceId: string,
    @Param('id') id: string,
    @Query() query: PageQuery,
    @CurrentActor() actor: Actor,
  ): Promise<Page<ContactConversation>> {
    return this.conversations.list(workspaceId, id, query, actor);
  }
}
