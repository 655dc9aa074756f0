import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';

/** Writes `file_stores`, whose only row has the id that the mark in the store of files has. */
@Injectable()
export class FileStoresRepository {
  constructor(private readonly database: Database) {}

  /** Returns the id of the mark; null before the first process has set it. */
  async find(): Promise<string | null> {
    const [row] = await this.database.query<{ id: string }>('SELECT id FROM file_stores');
    return row?.id ?? null;
  }

  /** Stores the id of the mark, unless another process was faster. */
  async insert(id: string): Promise<void> {
    await this.database.query('INSERT INTO file_stores (id) VALUES ($1) ON CONFLICT DO NOTHING', [id]);
  }
}
