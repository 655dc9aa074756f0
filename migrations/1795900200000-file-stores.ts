import { MigrationInterface, QueryRunner } from 'typeorm';

/** The mark that the store of files has, by which each process knows that it is the others' store. */
export class FileStores1795900200000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE file_stores (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        id      uuid NOT NULL
      )`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE file_stores');
  }
}
