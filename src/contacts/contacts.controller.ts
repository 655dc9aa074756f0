import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentActor, CurrentPrincipal, RequireScope } from '../http/access.decorators';
import { ApiErrors, ApiPage } from '../http/api.decorators';
import { type Page } from '../common/page';
import { type Actor, type Principal } from '../common/principal';
import { HasOwnBudget } from '../rate-limit/request-budget.interceptor';
import { ListContactsQuery, ContactResponse } from './contact.dto';
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
}
