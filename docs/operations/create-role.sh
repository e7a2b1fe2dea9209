# For the image of PostgreSQL, at its first start, with the password in POSTGRES_PASSWORD: a role that owns one database and nothing
# else. The superuser is left without a password: the container's own socket alone lets it in.
psql --username postgres --set ON_ERROR_STOP=1 --set password="$POSTGRES_PASSWORD" <<'END'
CREATE ROLE countersign LOGIN PASSWORD :'password';
CREATE DATABASE countersign OWNER countersign ENCODING 'UTF8' TEMPLATE template0;
ALTER ROLE postgres PASSWORD NULL;
END
