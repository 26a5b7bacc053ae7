-- Devices: the one try in the other environment that a token gets before a BadDeviceToken counts against it.
--
-- Lock: ACCESS EXCLUSIVE on devices for a moment (a column without a rewrite).
--
-- NULL: the environment is what the app told. trying: it was refused there and the other one is in `environment` now. found: the token was
-- taken there, which stays so as long as the device has this token, whatever the app tells. neither: both refused it, and `environment` is
-- what the app told.

CREATE TYPE environmentTrial AS ENUM ('trying', 'found', 'neither');

ALTER TABLE devices ADD COLUMN environmentTrial environmentTrial;

UPDATE analystColumns SET columns = columns || ', environmentTrial' WHERE relation = 'devices';

SELECT openToAnalysts();
