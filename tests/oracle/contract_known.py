"""Objects that the service accepts."""

CARD = {"type": "card", "number": "4242424242424242", "exp_month": 12, "exp_year": 2049, "cvv": "123"}
BANK = {
    "type": "bank", "routing_number": "111000025", "account_number": "000123456789", "account_type": "CHECKING",
    "account_holder_type": "business", "name": "Acme Ltd",
}
SCHEDULE = {"interval_unit": "MONTH", "interval_delay": 1, "start": "2049-01-15"}
APPLICATION = {
    "plan": "basic", "first_name": "Jane", "last_name": "Doe", "email": "jane@example.com", "business_name": "Doe Law",
    "business_address1": "1 Main Street", "business_city": "Springfield", "business_state": "IL",
    "business_zip_code": "62701", "business_phone": "217-555-0100", "business_country": "US", "industry_code": 8111,
    "goods_and_services": "Legal services", "structure": "SO", "business_type": "R", "federal_tax_id": "00-0000001",
    "years_in_business": "7", "owner_first_name": "Jane", "owner_last_name": "Doe", "owner_title": "Owner",
    "owner_date_of_birth": "1970-02-28", "owner_social_security_number": "000-00-0001",
    "owner_has_significant_ownership": True, "owner_has_significant_responsibility": True,
    "owner_address1": "2 Oak Street", "owner_city": "Springfield", "owner_state": "IL", "owner_zip_code": "62701",
    "owner_phone_number": "217-555-0101", "owner_email": "jane@example.com", "owner_drivers_license_number": "D000",
    "owner_drivers_license_state": "IL", "owner_drivers_license_expiration": "2030-01-31",
    "owner_country_of_citizenship": "US", "operating_account_routing_number": "000000013",
    "operating_account_bank_name": "FIRST BANK OF TESTING", "operating_account_number": "1234567",
    "ip_address_timestamp": "2026-11-21T18:00:00Z", "signature": '[{"lx":1,"ly":2,"mx":3,"my":4}]',
}
