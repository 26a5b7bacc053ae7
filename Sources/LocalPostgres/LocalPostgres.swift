// LocalPostgres
