// Linked with two copies of the same object, one of them with its own function renamed: every
// function of the library is defined twice then, and all of them have to be inline.

int every_header();
int every_header_again();

int main() { return every_header() == every_header_again() ? 0 : 1; }
