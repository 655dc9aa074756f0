import { Module } from '@nestjs/common';
import { ContactErasuresController } from './contact-erasures.controller';
import { ContactsController } from './contacts.controller';

@Module({ controllers: [ContactsController, ContactErasuresController] })
export class ContactPagesModule {}
