import { Module } from '@nestjs/common';
import { LinksController } from './links.controller';
import { LoginController } from './login.controller';
import { LoginCookies } from './login-cookies';

@Module({
  controllers: [LoginController, LinksController],
  providers: [LoginCookies],
  exports: [LoginCookies],
})
export class LoginModule {}
