#pragma once
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
