import { Controller, Get, Query } from '@nestjs/common';
import { CurrentPrincipal, RequireScope } from '../common/access.decorators';
import { type Page } from '../common/page';
import { type Principal } from '../common/principal';
import { ListContactsQuery } from './contact.dto';
import { ContactResponse } from './contact.response';
import { ContactsService } from './contacts.service';

@Controller('contacts')
export class ContactsController {
  constructor(private readonly contacts: ContactsService) {}

  @Get()
  @RequireScope('contacts:read')
  list(
    @CurrentPrincipal() { tenant }: Principal,
    @Query() query: ListContactsQuery,
  ): Promise<Page<ContactResponse>> {
    return this.contacts.list(tenant.id, query);
  }
}
