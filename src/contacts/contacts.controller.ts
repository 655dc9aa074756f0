import { Body, Controller, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentActor, CurrentPrincipal, RequireScope } from '../http/access.decorators';
import {
  ApiAnswer,
  ApiBodyErrors,
  ApiErrors,
  ApiId,
  ApiIdempotencyKey,
  ApiPage,
} from '../http/api.decorators';
import { NoQuery } from '../http/request.pipe';
import { type Page } from '../common/page';
import { type Actor, type Principal } from '../access/principal';
import { Idempotent, type IdempotentRequest } from '../idempotency/idempotent-request';
import { HasOwnBudget } from '../http/limits/request-budget';
import { ContactResponse, CreateContact, ListContactsQuery, UpdateContact } from './contact.dto';
import { ContactsService } from './contacts.service';

@ApiTags('Contacts')
@Controller('contacts')
export class ContactsController {
  constructor(private readonly contacts: ContactsService) {}

  @Get()
  @RequireScope('contacts:read')
  @ApiPage('List and search contacts, newest first', ContactResponse)
  @ApiErrors('INVALID_QUERY')
  @HasOwnBudget(({ query }) => Boolean(query['q']))
  list(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Query() query: ListContactsQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Page<ContactResponse>> {
    return this.contacts.list(tenant.id, query, actor, response);
  }

  @Get(':id')
  @RequireScope('contacts:read')
  @NoQuery()
  @ApiId('contact', '019ab3f2-3b4c-7d5e-8f60-718293a4b5c6')
  @ApiAnswer('Get a contact', ContactResponse)
  @ApiErrors('INVALID_QUERY', 'NOT_FOUND')
  get(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
  ): Promise<ContactResponse> {
    return this.contacts.get(tenant.id, id, actor);
  }

  @Post()
  @RequireScope('contacts:write')
  @NoQuery()
  @ApiIdempotencyKey('the contact as it is by then')
  @ApiAnswer('Create a contact', ContactResponse, { status: 201, headers: ['Idempotency-Replayed'] })
  @ApiBodyErrors('IDEMPOTENCY_CONFLICT')
  create(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Body() contact: CreateContact,
    @Idempotent() request: IdempotentRequest | null,
  ): Promise<ContactResponse> {
    return this.contacts.create(tenant.id, contact, actor, request);
  }

  @Patch(':id')
  @RequireScope('contacts:write')
  @NoQuery()
  @ApiId('contact', '019ab3f2-3b4c-7d5e-8f60-718293a4b5c6')
  @ApiAnswer('Change a contact', ContactResponse)
  @ApiBodyErrors('NOT_FOUND', 'CONFLICT')
  update(
    @CurrentPrincipal() { tenant }: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() changes: UpdateContact,
  ): Promise<ContactResponse> {
    return this.contacts.update(tenant.id, id, changes, actor);
  }
}
